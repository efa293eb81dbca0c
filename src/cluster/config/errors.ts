/** Something a user can mend: its message is a sentence or two that say what is wrong and what to do. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}
