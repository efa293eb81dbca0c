/** A container cannot be configured as its Pod asks for: reported as CreateContainerConfigError and retried. */
export class RuntimeConfigError extends Error {
  override readonly name = "RuntimeConfigError";
}
