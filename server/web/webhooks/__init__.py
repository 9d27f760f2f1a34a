"""Webhooks: a researcher's program is told that a survey was closed, or that the planned number was reached.

A request that leaves the moment something happens would be a list of times; so what has come to be is looked at once a
day, at a fixed hour, in what the pages show at that hour, and told then. What is sent names the survey and nothing of
its responses. The page of a researcher writes to the database only; whoever sends is the job of a process
(`deliverer`), which connects to public addresses alone (`posting`) and holds no transaction meanwhile.
"""
