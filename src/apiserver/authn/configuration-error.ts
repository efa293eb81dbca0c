/** A flag or a configuration file is invalid: the message says what and where. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}
