"""Loop operations, one rewrite a file: no operation decides whether it pays, and none has a constant of a machine.

An operation takes loops and returns loops. Its gate `why_not_...` says why it would change the results of a program, or
is None. Passes are policies that choose loops and sizes, ask the gate, and call the operation.
"""
