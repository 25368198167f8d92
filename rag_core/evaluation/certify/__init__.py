"""A preset with a certificate: a threshold chosen on labelled questions with a bound on its errors, and when that stops
to hold.
"""

from rag_core.evaluation.certify.certificate import Basis, Bound, Certificate, Curve, Part, Stale, stale
from rag_core.evaluation.certify.find import BY_TYPE, SHIFTED, Request, Uncertified, certify
from rag_core.evaluation.certify.thresholds import FIRST, MODE_OF, second_thresholds

__all__ = [
    "BY_TYPE",
    "FIRST",
    "MODE_OF",
    "SHIFTED",
    "Basis",
    "Bound",
    "Certificate",
    "Curve",
    "Part",
    "Request",
    "Stale",
    "Uncertified",
    "certify",
    "second_thresholds",
    "stale",
]
