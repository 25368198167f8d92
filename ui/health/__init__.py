"""The parts of the Health page: figures, refusals, scores, gaps. All from kept questions, whose texts are untrusted."""
