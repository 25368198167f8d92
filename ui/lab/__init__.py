"""The lab: labelled sets, runs of them, and what their records say under any settings."""
