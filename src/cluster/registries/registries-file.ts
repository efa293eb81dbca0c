/**
 * registries.yaml, in the format of k3s: mirrors of registries, and how each server is reached.
 *
 *     mirrors:                                 configs:
 *       docker.io:                               mirror.example:5000:
 *         endpoint: [https://mirror.example:5000]    auth: { username: a, password: b }
 *         rewrite: { "^library/(.*)": "hub/$1" }     tls: { ca_file: ca.pem }
 *
 * 1. Decoding is strict: an unknown field, another type, or what cannot act is an error that names the field.
 */
import { parse } from "yaml";

export interface Registries {
  /** By the registry that images name; `*`: all others. */
  readonly mirrors: ReadonlyMap<string, Mirror>;
  /** By `host` or `host:port`; `*`: all others. */
  readonly configs: ReadonlyMap<string, ServerConfig>;
}

export interface Mirror {
  /** Tried in this order, before the registry itself. */
  readonly endpoints: readonly URL[];
  /** Of repositories at the endpoints: the first that changes a name counts. */
  readonly rewrites: readonly Rewrite[];
}

export interface Rewrite {
  readonly pattern: string;
  readonly replacement: string;
}

export interface ServerConfig {
  readonly auth?: ServerAuth | undefined;
  readonly tls?: ServerTls | undefined;
}

export interface ServerAuth {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly identityToken?: string | undefined;
}

/** Paths of files of this machine. */
export interface ServerTls {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

export const NO_REGISTRIES: Registries = { mirrors: new Map(), configs: new Map() };

type Fields = Readonly<Record<string, unknown>>;

/** A name, an IPv4 address or an IPv6 one in brackets; with a port. */
const HOST = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;

/** Throws Error with all that is wrong, each with its field. */
export function parseRegistries(text: string): Registries {
  const problems: string[] = [];
  const registries = new Reader(problems).registries(document(text));
  if (problems.length > 0) throw new Error(problems.join("; "));
  return registries;
}

function document(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new Error((error as Error).message.split("\n")[0], { cause: error });
  }
}

class Reader {
  readonly #problems: string[];

  constructor(problems: string[]) {
    this.#problems = problems;
  }

  registries(value: unknown): Registries {
    if (value === null || value === undefined) return NO_REGISTRIES;
    const { mirrors, configs } = this.#fields(value, "the file", ["mirrors", "configs"], "");
    return {
      mirrors: this.#map(mirrors, "mirrors", (each, path) => this.#mirror(each, path), ["*"]),
      configs: this.#map(configs, "configs", (each, path) => this.#config(each, path), ["*"]),
    };
  }

  #mirror(value: unknown, path: string): Mirror {
    const { endpoint, rewrite } = this.#fields(value, path, ["endpoint", "rewrite"]);
    const endpoints = this.#list(endpoint, `${path}.endpoint`).flatMap((each, at) =>
      this.#url(each, `${path}.endpoint[${at}]`),
    );
    const rewrites = [...this.#map(rewrite, `${path}.rewrite`, (each, at) => this.#text(each, at) ?? "", "any")];
    for (const [pattern] of rewrites) {
      try {
        new RegExp(pattern);
      } catch (error) {
        this.#problems.push(`${path}.rewrite: ${(error as Error).message}`);
      }
    }
    if (rewrites.length > 0 && endpoints.length === 0)
      this.#problems.push(`${path}.rewrite: acts on endpoints, and there are none`);
    return { endpoints, rewrites: rewrites.map(([pattern, replacement]) => ({ pattern, replacement })) };
  }

  #config(value: unknown, path: string): ServerConfig {
    const { auth, tls } = this.#fields(value, path, ["auth", "tls"]);
    return {
      ...(auth !== undefined && auth !== null && { auth: this.#auth(auth, `${path}.auth`) }),
      ...(tls !== undefined && tls !== null && { tls: this.#tls(tls, `${path}.tls`) }),
    };
  }

  #auth(value: unknown, path: string): ServerAuth {
    const fields = this.#fields(value, path, ["username", "password", "auth", "identity_token"]);
    const text = (name: string) => this.#text(fields[name], `${path}.${name}`) || undefined;
    const [username, password, both, identityToken] = ["username", "password", "auth", "identity_token"].map(text);
    if (both === undefined) {
      if (username === undefined && identityToken === undefined)
        this.#problems.push(`${path}: needs username and password, auth, or identity_token`);
      if (username !== undefined && password === undefined)
        this.#problems.push(`${path}.password: is required with username`);
      return { username, password, identityToken };
    }
    if (username !== undefined || password !== undefined)
      this.#problems.push(`${path}.auth: holds username and password: give either`);
    const [, user, secret] = /^([^:]+):(.*)$/s.exec(Buffer.from(both, "base64").toString()) ?? [];
    if (user === undefined) this.#problems.push(`${path}.auth: must be USERNAME:PASSWORD in base64`);
    return { username: user, password: secret?.replace(/\0+$/, ""), identityToken };
  }

  #tls(value: unknown, path: string): ServerTls {
    const names = ["ca_file", "cert_file", "key_file", "insecure_skip_verify"];
    const fields = this.#fields(value, path, names);
    const text = (name: string) => this.#text(fields[name], `${path}.${name}`) || undefined;
    const [caFile, certFile, keyFile] = ["ca_file", "cert_file", "key_file"].map(text);
    const { insecure_skip_verify: insecure } = fields;
    if (insecure !== undefined && insecure !== null && typeof insecure !== "boolean")
      this.#problems.push(`${path}.insecure_skip_verify: must be true or false`);
    if ((certFile === undefined) !== (keyFile === undefined))
      this.#problems.push(`${path}: cert_file and key_file belong together`);
    return { caFile, certFile, keyFile, insecureSkipVerify: insecure === true };
  }

  #url(value: unknown, path: string): URL[] {
    const text = this.#text(value, path);
    if (text === undefined) return [];
    const url = URL.parse(text);
    if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "" && url.hash === "")
      return [url];
    this.#problems.push(`${path}: ${JSON.stringify(text)} is not a URL such as https://mirror.example:5000`);
    return [];
  }

  #text(value: unknown, path: string): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value === "string") return value;
    this.#problems.push(`${path}: must be a string`);
    return undefined;
  }

  #list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.#problems.push(`${path}: must be a list`);
    return [];
  }

  /** Keys are hosts, or one of `besides`. */
  #map<T>(
    value: unknown,
    path: string,
    read: (value: unknown, path: string) => T,
    besides: readonly string[] | "any" = [],
  ): Map<string, T> {
    const found = new Map<string, T>();
    if (value === undefined || value === null) return found;
    if (!isFields(value)) {
      this.#problems.push(`${path}: must be an object`);
      return found;
    }
    for (const [key, each] of Object.entries(value)) {
      if (besides !== "any" && !besides.includes(key) && !HOST.test(key))
        this.#problems.push(`${path}[${JSON.stringify(key)}]: must be a host, or host:port`);
      found.set(key, read(each, `${path}[${JSON.stringify(key)}]`));
    }
    return found;
  }

  #fields(value: unknown, path: string, names: readonly string[], prefix = `${path}.`): Fields {
    if (value === undefined || value === null) return {};
    if (!isFields(value)) {
      this.#problems.push(`${path}: must be an object`);
      return {};
    }
    for (const name of Object.keys(value)) {
      if (!names.includes(name)) this.#problems.push(`unknown field ${JSON.stringify(`${prefix}${name}`)}`);
    }
    return value;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
