/** A request to the registry and its answer, as values. */
import type { Readable } from "node:stream";
import type { Blobs } from "../files/blobs.ts";
import type { Repositories } from "../files/repositories.ts";
import type { Uploads } from "../files/uploads.ts";

export interface RegistryRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface RegistryAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable;
}

export interface Files {
  readonly blobs: Blobs;
  readonly repositories: Repositories;
  readonly uploads: Uploads;
}

export function jsonAnswer(
  value: object,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): RegistryAnswer {
  const body = Buffer.from(JSON.stringify(value));
  const type = headers["content-type"] ?? "application/json";
  return { status, headers: { ...headers, "content-type": type, "content-length": String(body.length) }, body };
}

export function headerOf({ headers }: RegistryRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
