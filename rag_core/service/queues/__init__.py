"""How much is done at once: bounded queues, places for each caller, jobs, and requests that came twice."""
