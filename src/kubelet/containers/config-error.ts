/** A container cannot be configured as its Pod says: told as CreateContainerConfigError, and tried again. */
export class RuntimeConfigError extends Error {
  override readonly name = "RuntimeConfigError";
}
