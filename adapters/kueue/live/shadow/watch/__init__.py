"""What is watched where Kueue decides by itself: the objects, in terms of the policy that they make, as steps in order."""
