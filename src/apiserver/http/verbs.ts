/** What verbs do. Every request asks several times: a few comparisons cost less than to find a word in a set. */

export function isReading(verb: string): boolean {
  return verb === "get" || verb === "list" || verb === "watch" || verb === "head" || verb === "options";
}

/** Objects change by it. */
export function isWriting(verb: string): boolean {
  return verb === "create" || verb === "update" || verb === "patch" || verb === "delete" || verb === "deletecollection";
}
