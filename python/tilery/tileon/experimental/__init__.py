"""What upstream tries out beside its language; of Gluon there is the name alone."""
