"""The guarded way to the engine for programs: who asks, what they may reach, how much at once.

HTTP and MCP hand their calls on to it.

A caller is a `Principal`. `Service.enter` gives them a `Collection`, or says that there is none, and everything that
can be done with documents, questions and records is a method of that. So no entry point can forget the guard.
"""
