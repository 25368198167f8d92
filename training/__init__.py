"""Programs that fit the models and coefficients in data/. They read data from a path; the product never needs them."""
