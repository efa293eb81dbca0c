/**
 * Checks of names. Each check returns the faults of a value, in the words of Kubernetes; an empty list means that it is
 * valid. Lengths are counted in bytes, as in Kubernetes.
 */

export type NameCheck = (value: string) => readonly string[];

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(\\.${label})*`;
const underscoreLabel = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const underscoreSubdomain = `${underscoreLabel}(\\.${underscoreLabel})*`;
const dns1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const keyName = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const labelWords =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const subdomainWords =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const keyNameWords =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const labelPattern = new RegExp(`^${label}$`);
const subdomainPattern = new RegExp(`^${subdomain}$`);
const keyNamePattern = new RegExp(`^${keyName}$`);
/** A key that is not longer than this has no part that is too long. */
const shortKeyPattern = new RegExp(`^(${subdomain}/)?${keyName}$`);
const NONE: readonly string[] = [];

export const checkDns1123Label: NameCheck = (value) => {
  const errors = tooManyCharacters(value, 63);
  if (labelPattern.test(value)) return errors;
  const why = subdomainPattern.test(value) ? "must not contain dots" : misfit(labelWords, label, "my-name", "123-abc");
  return [...errors, why];
};

export const checkDns1123Subdomain: NameCheck = textCheck(253, subdomain, subdomainWords, "example.com");

/** The same in declarative validation (`k8s-long-name`), which says bytes. */
export const checkLongName: NameCheck = (value) => {
  const errors = tooManyBytes(value, 253);
  return subdomainPattern.test(value) ? errors : [...errors, misfit(subdomainWords, subdomain, "example.com")];
};

export const checkDns1123SubdomainWithUnderscore: NameCheck = textCheck(
  253,
  underscoreSubdomain,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  "example.com",
);

export const checkDns1035Label: NameCheck = textCheck(
  63,
  dns1035,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  "my-name",
  "abc-123",
);

export const checkWildcardSubdomain: NameCheck = textCheck(
  253,
  `\\*\\.${subdomain}`,
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  "*.example.com",
);

/** A label key: a name with an optional domain prefix. Annotations, finalizers and resources have the same form. */
export const checkQualifiedName: NameCheck = (value) => {
  if (value.length <= 63 && shortKeyPattern.test(value)) return NONE;
  const parts = value.split("/");
  if (parts.length > 2) {
    const wanted = misfit(keyNameWords, keyName, "MyName", "my.name", "123-abc");
    return [`a valid label key ${wanted} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  const [prefix, name = ""] = parts.length === 2 ? parts : [undefined, parts[0]];
  if (prefix === "") errors.push("prefix part must be non-empty");
  else if (prefix !== undefined) errors.push(...checkLongName(prefix).map((error) => `prefix part ${error}`));
  if (name === "") errors.push("name part must be non-empty");
  else errors.push(...tooManyBytes(name, 63).map((error) => `name part ${error}`));
  if (!keyNamePattern.test(name))
    errors.push(`name part ${misfit(keyNameWords, keyName, "MyName", "my.name", "123-abc")}`);
  return errors;
};

const labelValue = `(${keyName})?`;
const labelValuePattern = new RegExp(`^${labelValue}$`);

export const checkLabelValue: NameCheck = (value) => {
  const errors = tooManyBytes(value, 63);
  if (labelValuePattern.test(value)) return errors;
  const wanted = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`;
  return [...errors, misfit(wanted, labelValue, "MyValue", "my_value", "12345")];
};

export const checkCIdentifier: NameCheck = textCheck(
  Number.POSITIVE_INFINITY,
  "[A-Za-z_][A-Za-z0-9_]*",
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  "my_name",
  "MY_NAME",
  "MyName",
);

/** An IANA service name, as named ports have. */
export const checkPortName: NameCheck = (value) => {
  const errors = [...tooManyCharacters(value, 15)];
  if (!/^[-a-z0-9]+$/.test(value))
    errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(value)) errors.push("must contain at least one letter (a-z)");
  if (value.includes("--")) errors.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) errors.push("must not begin or end with a hyphen");
  return errors;
};

export function checkPortNumber(port: number): readonly string[] {
  return checkRange(port, 1, 65535);
}

export function checkRange(value: number, low: number, high: number): readonly string[] {
  return value >= low && value <= high ? [] : [`must be between ${low} and ${high}, inclusive`];
}

export const checkPercent: NameCheck = textCheck(
  Number.POSITIVE_INFINITY,
  "[0-9]+%",
  "a valid percent string must be a numeric string followed by an ending '%'",
  "1%",
  "93%",
);

export const checkHttpHeaderName: NameCheck = textCheck(
  Number.POSITIVE_INFINITY,
  "[-A-Za-z0-9]+",
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  "X-Header-Name",
);

/** Any printable ASCII character but '='. */
export const checkEnvVarName: NameCheck = (value) => {
  if (value === "") return ["environment variable name must be non-empty"];
  if (/^[\x20-\x3c\x3e-\x7e]+$/.test(value)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
};

const configMapKey = textCheck(
  253,
  "[-._a-zA-Z0-9]+",
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  "key.name",
  "KEY_NAME",
  "key-name",
);

/** A key of a ConfigMap or a Secret, which becomes a file name. */
export const checkConfigMapKey: NameCheck = (value) => {
  const errors = [...configMapKey(value)];
  if (value === "." || value === "..") errors.push(`must not be '${value}'`);
  else if (value.startsWith("..")) errors.push("must not start with '..'");
  return errors;
};

/** A name that stands in a URL path; a prefix is only checked for its characters. */
export function checkPathSegmentName(value: string, isPrefix = false): readonly string[] {
  if (!isPrefix && (value === "." || value === "..")) return [`may not be '${value}'`];
  return ["/", "%"].filter((char) => value.includes(char)).map((char) => `may not contain '${char}'`);
}

/** Checks the prefix of a generated name: a trailing hyphen is allowed. */
export function checkPrefix(check: NameCheck): NameCheck {
  return (value) => check(value.length > 1 && value.endsWith("-") ? `${value.slice(0, -2)}a` : value);
}

function textCheck(max: number, pattern: string, words: string, ...examples: readonly string[]): NameCheck {
  const whole = new RegExp(`^${pattern}$`);
  return (value) => {
    const errors = tooManyCharacters(value, max);
    return whole.test(value) ? errors : [...errors, misfit(words, pattern, ...examples)];
  };
}

function misfit(words: string, pattern: string, ...examples: readonly string[]): string {
  return `${words} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${pattern}')`;
}

/** Kubernetes says characters in most messages and bytes in some; it counts bytes in all. */
function tooManyCharacters(value: string, max: number): readonly string[] {
  return isLonger(value, max) ? [`must be no more than ${max} characters`] : NONE;
}

function tooManyBytes(value: string, max: number): readonly string[] {
  return isLonger(value, max) ? [`must be no more than ${max} bytes`] : NONE;
}

const encoder = new TextEncoder();

/** A UTF-16 code unit takes at most three bytes: most strings need no counting. */
function isLonger(value: string, maxBytes: number): boolean {
  return value.length * 3 > maxBytes && (value.length > maxBytes || byteLength(value) > maxBytes);
}

function byteLength(value: string): number {
  return value.length > 15 ? encoder.encode(value).length : value.length;
}
