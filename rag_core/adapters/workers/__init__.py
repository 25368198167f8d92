"""Processes that make documents beside this one."""
