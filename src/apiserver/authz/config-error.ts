/** A file or a flag of authorization is invalid: a message for the administrator. */
export class AuthorizationConfigError extends Error {
  override readonly name = "AuthorizationConfigError";
}
