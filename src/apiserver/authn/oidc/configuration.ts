/** AuthenticationConfiguration from a file, or made of the --oidc-* flags. */
import { type FieldError, field, isObject, type Json, type JsonObject, parseYaml } from "#api";
import { ConfigurationError } from "../configuration-error.ts";

export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtAuthenticator[];
  readonly anonymous?: { readonly enabled: boolean; readonly conditions: readonly { readonly path: string }[] };
}

export interface JwtAuthenticator {
  readonly issuer: {
    readonly url: string;
    readonly discoveryURL: string;
    /** PEM; empty: the system's certificate authorities. */
    readonly certificateAuthority: string;
    readonly audiences: readonly string[];
    readonly audienceMatchPolicy: string;
    readonly egressSelectorType: string;
  };
  readonly claimValidationRules: readonly ClaimValidationRule[];
  readonly claimMappings: {
    readonly username: PrefixedClaimOrExpression;
    readonly groups: PrefixedClaimOrExpression;
    readonly uid: ClaimOrExpression;
    readonly extra: readonly { readonly key: string; readonly valueExpression: string }[];
  };
  readonly userValidationRules: readonly { readonly expression: string; readonly message: string }[];
}

export interface ClaimValidationRule {
  readonly claim: string;
  readonly requiredValue: string;
  readonly expression: string;
  readonly message: string;
}

export interface ClaimOrExpression {
  readonly claim: string;
  readonly expression: string;
}

export interface PrefixedClaimOrExpression extends ClaimOrExpression {
  readonly prefix: string | undefined;
}

const VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version}`);

/** Parses a file. Unknown fields are errors: a misspelt rule must not be a missing rule. */
export function parseAuthenticationConfiguration(yaml: string, file: string): AuthenticationConfiguration {
  let value: Json;
  try {
    value = parseYaml(yaml).value;
  } catch (error) {
    throw new ConfigurationError(`${file}: ${(error as Error).message}`, { cause: error });
  }
  if (
    !isObject(value) ||
    value.kind !== "AuthenticationConfiguration" ||
    !VERSIONS.includes(String(value.apiVersion))
  ) {
    throw new ConfigurationError(`${file} is no AuthenticationConfiguration of ${VERSIONS[0]}.`);
  }
  const errors: FieldError[] = [];
  const read = new Reader(value, "", errors);
  const anonymous = read.optional("anonymous");
  const configuration: AuthenticationConfiguration = {
    jwt: read.list("jwt").map(jwtAuthenticator),
    ...(anonymous !== undefined && {
      anonymous: {
        enabled: anonymous.boolean("enabled"),
        conditions: anonymous.list("conditions").map((each) => ({ path: each.text("path") })),
      },
    }),
  };
  read.known("kind", "apiVersion", "jwt", "anonymous");
  anonymous?.known("enabled", "conditions");
  if (errors.length > 0) throw invalidConfiguration(file, errors);
  return configuration;
}

export function invalidConfiguration(file: string, errors: readonly FieldError[]): ConfigurationError {
  return new ConfigurationError(`${file}: ${field.aggregate(errors.map(field.fieldErrorText))}`);
}

function jwtAuthenticator(read: Reader): JwtAuthenticator {
  const issuer = read.object("issuer");
  const mappings = read.object("claimMappings");
  const result: JwtAuthenticator = {
    issuer: {
      url: issuer.text("url"),
      discoveryURL: issuer.text("discoveryURL"),
      certificateAuthority: issuer.text("certificateAuthority"),
      audiences: issuer.texts("audiences"),
      audienceMatchPolicy: issuer.text("audienceMatchPolicy"),
      egressSelectorType: issuer.text("egressSelectorType"),
    },
    claimValidationRules: read.list("claimValidationRules").map((rule) => {
      rule.known("claim", "requiredValue", "expression", "message");
      return {
        claim: rule.text("claim"),
        requiredValue: rule.text("requiredValue"),
        expression: rule.text("expression"),
        message: rule.text("message"),
      };
    }),
    claimMappings: {
      username: prefixed(mappings.object("username")),
      groups: prefixed(mappings.object("groups")),
      uid: claimOrExpression(mappings.object("uid")),
      extra: mappings.list("extra").map((extra) => {
        extra.known("key", "valueExpression");
        return { key: extra.text("key"), valueExpression: extra.text("valueExpression") };
      }),
    },
    userValidationRules: read.list("userValidationRules").map((rule) => {
      rule.known("expression", "message");
      return { expression: rule.text("expression"), message: rule.text("message") };
    }),
  };
  read.known("issuer", "claimValidationRules", "claimMappings", "userValidationRules");
  issuer.known("url", "discoveryURL", "certificateAuthority", "audiences", "audienceMatchPolicy", "egressSelectorType");
  mappings.known("username", "groups", "uid", "extra");
  return result;
}

function claimOrExpression(read: Reader): ClaimOrExpression {
  read.known("claim", "expression");
  return { claim: read.text("claim"), expression: read.text("expression") };
}

function prefixed(read: Reader): PrefixedClaimOrExpression {
  read.known("claim", "prefix", "expression");
  return {
    claim: read.text("claim"),
    expression: read.text("expression"),
    prefix: read.has("prefix") ? read.text("prefix") : undefined,
  };
}

/** Reads fields of an object, and collects errors. */
class Reader {
  readonly #value: JsonObject;
  readonly #path: string;
  readonly #errors: FieldError[];

  constructor(value: JsonObject, path: string, errors: FieldError[]) {
    this.#value = value;
    this.#path = path;
    this.#errors = errors;
  }

  has(name: string): boolean {
    return this.#value[name] !== undefined && this.#value[name] !== null;
  }

  text(name: string): string {
    const value = this.#value[name] ?? "";
    return typeof value === "string" ? value : this.#wrong(name, "must be a string", "");
  }

  boolean(name: string): boolean {
    const value = this.#value[name] ?? false;
    return typeof value === "boolean" ? value : this.#wrong(name, "must be a boolean", false);
  }

  texts(name: string): readonly string[] {
    const value = this.#value[name] ?? [];
    const fine = Array.isArray(value) && value.every((each) => typeof each === "string");
    return fine ? (value as readonly string[]) : this.#wrong(name, "must be a list of strings", []);
  }

  object(name: string): Reader {
    const value = this.#value[name] ?? {};
    const object = isObject(value) ? value : this.#wrong(name, "must be an object", {});
    return new Reader(object, this.#at(name), this.#errors);
  }

  optional(name: string): Reader | undefined {
    return this.has(name) ? this.object(name) : undefined;
  }

  list(name: string): readonly Reader[] {
    const value = this.#value[name] ?? [];
    const list = Array.isArray(value) ? (value as readonly Json[]) : this.#wrong(name, "must be a list", []);
    return list.map((each, i) => {
      const object = isObject(each) ? each : this.#wrong(`${name}[${i}]`, "must be an object", {});
      return new Reader(object, `${this.#at(name)}[${i}]`, this.#errors);
    });
  }

  /** Every other field is an error. */
  known(...names: readonly string[]): void {
    for (const name of Object.keys(this.#value)) {
      if (!names.includes(name)) this.#errors.push(field.forbidden(this.#at(name), "unknown field"));
    }
  }

  #at(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  #wrong<T>(name: string, detail: string, instead: T): T {
    this.#errors.push(field.typeInvalid(this.#at(name), this.#value[name] ?? null, detail));
    return instead;
  }
}
