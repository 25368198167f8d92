"""Makes a decision of measurements: measure, judge, present, replay."""
