/**
 * An extension server inside this process: an APIService names its Service, as it would name any other, and no
 * connection is made.
 *
 * 1. The request was authenticated and authorized by this server; there is no second check behind it.
 */
import { Readable } from "node:stream";
import type { NetworkAddress } from "#base";
import type { Incoming, Outgoing, Upgraded } from "./backend.ts";

export interface LocalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type LocalExtension = (
  request: Pick<Outgoing, "method" | "path"> & { readonly accept: string | undefined },
) => LocalAnswer | Promise<LocalAnswer>;

/** By the `namespace/name` of the Service that stands for them. */
export type LocalExtensions = ReadonlyMap<string, LocalExtension>;

export class LocalBackend {
  readonly #extension: LocalExtension;

  constructor(extension: LocalExtension) {
    this.#extension = extension;
  }

  async send(_address: NetworkAddress, { method, path, headers }: Outgoing): Promise<Incoming> {
    const { accept } = headers;
    const request = { method, path, accept: Array.isArray(accept) ? accept.join(",") : accept };
    const { status, headers: answered, body } = await this.#extension(request);
    const length = { "content-length": String(body.length) };
    return { status, headers: { ...answered, ...length }, body: Readable.from([body]), isBroken: () => false };
  }

  async upgrade(address: NetworkAddress, outgoing: Outgoing): Promise<Upgraded> {
    return { incoming: await this.send(address, outgoing) };
  }
}
