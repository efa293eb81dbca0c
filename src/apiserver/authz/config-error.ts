/** What is wrong with a file or a flag that says how requests are authorized: a sentence for whoever started the server. */
export class AuthorizationConfigError extends Error {
  override readonly name = "AuthorizationConfigError";
}
