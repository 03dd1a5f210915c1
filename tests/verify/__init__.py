"""The proofs: sound tables pass, planted errors show."""
