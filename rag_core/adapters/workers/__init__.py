"""Processes that make documents beside this one: `ray_workers` asks for them, `driver` speaks to Ray, `maker` is a worker."""
