/** Requests and answers of the test kit: JSON in, JSON out. */
import { type JsonObject, type KubeObject, type ObjectMeta, parseJson, requestEntityTooLarge, writeJson } from "#api";
import { type ApiRequest, type ApiResponse, isStream } from "../http/exchange.ts";
import type { UserInfo } from "../identity/user.ts";

export interface RequestOptions {
  /** Objects are sent as JSON, text and bytes as they are. */
  readonly body?: object | string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** `null`: the transport has no identity. Default: an administrator. */
  readonly user?: UserInfo | null;
  readonly signal?: AbortSignal;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly bytes: Buffer;
  readonly text: string;
  readonly json: JsonObject;
  /** Of an object. */
  readonly metadata: ObjectMeta;
  /** Of a list. */
  readonly list: ListAnswer;
}

export interface ListAnswer {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly KubeObject[];
  /** `namespace/name` of each item, or only its name. */
  readonly names: readonly string[];
}

export function toRequest(method: string, url: string, admin: UserInfo, options: RequestOptions = {}): ApiRequest {
  const [path = "", query = ""] = url.split("?", 2);
  const { body, headers = {}, user = admin, signal = new AbortController().signal } = options;
  const bytes = bytesOf(body);
  return {
    method,
    path,
    query: new URLSearchParams(query),
    headers: { "user-agent": "test/1.0", ...headers },
    body: async (limit) => {
      if (bytes.length > limit) throw requestEntityTooLarge(`limit is ${limit}`);
      return bytes;
    },
    signal,
    ...(user !== null && { user }),
  };
}

export function toAnswer(response: ApiResponse): TestAnswer {
  if (isStream(response)) throw new Error("a stream was answered: open it as a watch");
  const { status, headers } = response;
  const bytes = Buffer.concat(response.body);
  return {
    status,
    headers,
    bytes,
    get text() {
      return bytes.toString();
    },
    get json() {
      return parseJson(bytes.toString()) as JsonObject;
    },
    get metadata() {
      return (parseJson(bytes.toString()) as unknown as KubeObject).metadata;
    },
    get list() {
      const list = parseJson(bytes.toString()) as unknown as Omit<ListAnswer, "names">;
      const names = list.items.map(({ metadata: { namespace, name } }) =>
        namespace === undefined ? `${name}` : `${namespace}/${name}`,
      );
      return { ...list, names };
    },
  };
}

function bytesOf(body: RequestOptions["body"]): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : writeJson(body));
}
