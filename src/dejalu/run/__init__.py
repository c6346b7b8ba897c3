"""What a run is made of; flow.py puts it together.

job        one run: inputs, folders, store, engine
sources    files and tables, seen alike
stages     the tasks: sketch a piece, edges of a band, settle a partition
corpus     the first pass as columns;  texts: what verification reads again
gathering  what the report tells;  finish: evidence, report, gate;  writing: the corpus;  auditing: --audit
applying   act on a finished run;  result: what the caller gets;  meter: costs and progress
"""
