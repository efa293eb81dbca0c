/** An error that a user can fix: its message says in a sentence or two what is wrong and what to do. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}
