"""Before a draft: the features of a retrieval, the calibrated score, the keywords and the confidence level."""
