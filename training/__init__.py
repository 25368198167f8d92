"""Programs that fit what lies in data/. They read data from a path given to them; the product never needs them."""
