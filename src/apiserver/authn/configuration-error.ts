/** Something in a flag or a configuration file that its author can mend: the message says what and where. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}
