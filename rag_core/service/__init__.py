"""The guarded way to the engine for HTTP and MCP: who asks, what they may reach, how much at once.

A caller is a `Principal`. `Service.enter` gives them a `Collection`, or says that there is none, and everything that
can be done with documents, questions and records is a method of that. So no entry point can forget the guard.
"""
