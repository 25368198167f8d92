"""From measurements to a decision: measure, judge, present, replay."""
