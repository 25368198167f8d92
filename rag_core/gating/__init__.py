"""Before an answer: the features of a retrieval, the calibrated score, the keywords, and the gates that judge them."""
