"""Certificates of proofs: written when a table is proven, removed when it is refuted.

    FileProof  ->  proven    the certificate beside the table (`tbgen.tables.certificates`)
               ->  refuted   none, and one that says otherwise of these contents goes

A directory that cannot be written to is no reason to fail: a proof is a proof, and what was not
written is said.
"""

from __future__ import annotations

from tbgen import __version__
from tbgen.tables.certificates import (
    Certificate,
    CertificateError,
    certificate_path,
    read_certificate,
    write_certificate,
)
from tbgen.verify.files import FileProof
from tbgen.verify.report import METHOD


def certify(proof: FileProof) -> list[str]:
    """Let the certificate beside a table say what a proof found; what is to be noted, as lines."""
    path = certificate_path(proof.path)
    try:
        if proof.report.ok:
            write_certificate(proof.path, certificate_of(proof), proof.modified)
        elif _claims(proof):
            path.unlink(missing_ok=True)
            return [f"{path.name} claimed a proof of these contents, and has been removed"]
    except OSError as error:
        if proof.report.ok:
            return [f"{path.name} could not be written: {error.strerror}"]
        return [f"{path.name} claims a proof, and could not be removed: {error.strerror}"]
    return []


def certificate_of(proof: FileProof) -> Certificate:
    """The certificate of a proof without findings."""
    return Certificate(
        table=proof.name,
        digest=proof.digest,
        supporting=proof.supporting,
        method=METHOD,
        tbgen=__version__,
        seconds=round(proof.report.seconds, 3),
    )


def _claims(proof: FileProof) -> bool:
    """Return whether the certificate beside the table is one of these contents."""
    try:
        found = read_certificate(proof.path)
    except CertificateError:
        return False
    return found is not None and found.digest == proof.digest
