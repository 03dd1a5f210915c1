"""Tests of the proof: valid tables pass, planted errors are found."""
