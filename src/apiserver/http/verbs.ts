/** Which verbs read, and which write. */

export function isReading(verb: string): boolean {
  return verb === "get" || verb === "list" || verb === "watch" || verb === "head" || verb === "options";
}

/** The verb changes objects. */
export function isWriting(verb: string): boolean {
  return verb === "create" || verb === "update" || verb === "patch" || verb === "delete" || verb === "deletecollection";
}
