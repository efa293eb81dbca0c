import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { generateName } from "./generate-name.ts";
import {
  checkCIdentifier,
  checkConfigMapKey,
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkDns1123SubdomainWithUnderscore,
  checkEnvVarName,
  checkHttpHeaderName,
  checkLabelValue,
  checkPathSegmentName,
  checkPercent,
  checkPortName,
  checkPortNumber,
  checkPrefix,
  checkQualifiedName,
  checkWildcardSubdomain,
  type NameCheck,
} from "./names.ts";

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const dns1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const keyName =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const configKey =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const long = "a".repeat(64);

describe("names", () => {
  it.each<readonly [NameCheck, string, readonly string[]]>([
    [checkDns1123Label, "my-name", []],
    [checkDns1123SubdomainWithUnderscore, "_a.b_c", []],
    [checkDns1123Label, "a.b", ["must not contain dots"]],
    [checkDns1123Label, "A", [label]],
    [checkDns1123Label, long, ["must be no more than 63 characters"]],
    [checkDns1123Subdomain, "a.b-c.d", []],
    [checkDns1123Subdomain, "UPPER", [subdomain]],
    [checkDns1123Subdomain, "", [subdomain]],
    [checkDns1123Subdomain, "a".repeat(254), ["must be no more than 253 characters"]],
    [checkDns1035Label, "Things", [dns1035]],
    [checkDns1035Label, "1a", [dns1035]],
    [checkDns1035Label, "a1", []],
    [checkWildcardSubdomain, "*.example.com", []],
    [checkQualifiedName, "app", []],
    [checkQualifiedName, "example.com/App_1", []],
    [checkQualifiedName, "/x", ["prefix part must be non-empty"]],
    [checkQualifiedName, "x/", ["name part must be non-empty", `name part ${keyName}`]],
    [checkQualifiedName, "X/y", [`prefix part ${subdomain}`]],
    [checkQualifiedName, "bad key", [`name part ${keyName}`]],
    [
      checkQualifiedName,
      "x/y/z",
      [`a valid label key ${keyName} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
    ],
    [checkQualifiedName, long, ["name part must be no more than 63 bytes"]],
    [checkLabelValue, "", []],
    [checkLabelValue, "a b", [labelValue]],
    [checkLabelValue, long, ["must be no more than 63 bytes"]],
    [checkLabelValue, "ä".repeat(40), ["must be no more than 63 bytes", labelValue]],
    [checkCIdentifier, "my_name", []],
    [checkPortName, "http", []],
    [checkPortName, "way-too-long-port-name", ["must be no more than 15 characters"]],
    [checkPortName, "way_bad", ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]],
    [checkPortName, "80", ["must contain at least one letter (a-z)"]],
    [checkPortName, "a--b-", ["must not contain consecutive hyphens", "must not begin or end with a hyphen"]],
    [checkEnvVarName, "MY VAR!", []],
    [
      checkEnvVarName,
      "a=b",
      ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
    ],
    [checkEnvVarName, "", ["environment variable name must be non-empty"]],
    [checkConfigMapKey, "key.name", []],
    [checkConfigMapKey, "bad key", [configKey]],
    [checkConfigMapKey, "..", ["must not be '..'"]],
    [checkConfigMapKey, "..x", ["must not start with '..'"]],
    [checkPathSegmentName, "a/b%", ["may not contain '/'", "may not contain '%'"]],
    [checkPathSegmentName, "..", ["may not be '..'"]],
    [checkHttpHeaderName, "X-A", []],
    [checkPercent, "5%", []],
  ])("$0.name of $1", (check, value, want) => expect(check(value)).toEqual(want));

  it("numbers have ranges", () => {
    expect(checkPortNumber(0)).toEqual(["must be between 1 and 65535, inclusive"]);
    expect(checkPortNumber(65535)).toEqual([]);
  });

  it("a prefix may end in a hyphen", () => {
    const check = checkPrefix(checkDns1123Label);
    expect(check("web-")).toEqual([]);
    expect(check("-")).toEqual([label]);
    expect(check("Web-")).toEqual([label]);
  });

  it("are generated to fit a label", () => {
    const name = generateName("web-", seededRandom(1));
    expect(name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(generateName("x".repeat(100), seededRandom(1))).toHaveLength(63);
  });
});
