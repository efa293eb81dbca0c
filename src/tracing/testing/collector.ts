/**
 * A collector on loopback, over HTTP or gRPC. Requests are read with the field numbers of opentelemetry-proto by a
 * library, not by the code that wrote them.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";

export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly events: readonly string[];
  /** The trace ids of its links. */
  readonly links: readonly string[];
  readonly state: string;
  readonly failure: string | undefined;
}

export interface Collector extends AsyncDisposable {
  /** For a TracingConfiguration. */
  readonly endpoint: string;
  readonly spans: CollectedSpan[];
  /** How many requests have come. */
  readonly requests: number;
  /** What it answers from now on; `hang`: nothing. */
  answer: "take" | "hang" | "later" | "refuse";
}

const scalar = (id: number, type: string) => ({ id, type });
const list = (id: number, type: string) => ({ id, type, rule: "repeated" });

const MESSAGES = {
  AnyValue: {
    oneofs: { value: { oneof: ["stringValue", "boolValue", "intValue", "doubleValue"] } },
    fields: {
      stringValue: scalar(1, "string"),
      boolValue: scalar(2, "bool"),
      intValue: scalar(3, "int64"),
      doubleValue: scalar(4, "double"),
    },
  },
  KeyValue: { fields: { key: scalar(1, "string"), value: scalar(2, "AnyValue") } },
  Resource: { fields: { attributes: list(1, "KeyValue") } },
  Scope: { fields: { name: scalar(1, "string") } },
  Event: { fields: { time: scalar(1, "fixed64"), name: scalar(2, "string"), attributes: list(3, "KeyValue") } },
  Link: { fields: { traceId: scalar(1, "bytes"), spanId: scalar(2, "bytes"), traceState: scalar(3, "string") } },
  Status: { fields: { message: scalar(2, "string"), code: scalar(3, "int32") } },
  Span: {
    fields: {
      traceId: scalar(1, "bytes"),
      spanId: scalar(2, "bytes"),
      traceState: scalar(3, "string"),
      parentSpanId: scalar(4, "bytes"),
      name: scalar(5, "string"),
      kind: scalar(6, "int32"),
      start: scalar(7, "fixed64"),
      end: scalar(8, "fixed64"),
      attributes: list(9, "KeyValue"),
      events: list(11, "Event"),
      links: list(13, "Link"),
      status: scalar(15, "Status"),
      flags: scalar(16, "fixed32"),
    },
  },
  ScopeSpans: { fields: { scope: scalar(1, "Scope"), spans: list(2, "Span") } },
  ResourceSpans: { fields: { resource: scalar(1, "Resource"), scopeSpans: list(2, "ScopeSpans") } },
  ExportTraceServiceRequest: { fields: { resourceSpans: list(1, "ResourceSpans") } },
  ExportTraceServiceResponse: { fields: {} },
  TraceService: {
    methods: {
      Export: { requestType: "ExportTraceServiceRequest", responseType: "ExportTraceServiceResponse" },
    },
  },
};

interface Pair {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>> & { readonly value: string };
}
interface Wire {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}
interface WireSpan {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly parentSpanId: Buffer;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  readonly start: string;
  readonly end: string;
  readonly attributes: readonly Pair[];
  readonly events: readonly { readonly name: string }[];
  readonly links: readonly { readonly traceId: Buffer }[];
  readonly status: { readonly message: string; readonly code: number } | null;
}

function traceService(): ServiceDefinition {
  const nested = {
    opentelemetry: {
      nested: { proto: { nested: { collector: { nested: { trace: { nested: { v1: { nested: MESSAGES } } } } } } } },
    },
  };
  const loaded = fromJSON({ nested } as Parameters<typeof fromJSON>[0], {
    longs: String,
    defaults: true,
    arrays: true,
    oneofs: true,
  });
  return loaded["opentelemetry.proto.collector.trace.v1.TraceService"] as ServiceDefinition;
}

/** What both kinds share. */
class Received {
  readonly spans: CollectedSpan[] = [];
  requests = 0;
  answer: Collector["answer"] = "take";

  take(request: Wire): void {
    for (const { resource, scopeSpans } of request.resourceSpans) {
      const service = String(attributesOf(resource.attributes)["service.name"]);
      for (const { spans } of scopeSpans) for (const span of spans) this.spans.push(collected(service, span));
    }
  }
}

export async function httpCollector(): Promise<Collector> {
  const received = new Received();
  const { requestDeserialize: decode } = traceService().Export as { requestDeserialize: (bytes: Buffer) => Wire };
  const server = createServer((request, response) => void answerHttp(request, response, received, decode));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(received, {
    endpoint: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function answerHttp(
  request: IncomingMessage,
  response: ServerResponse,
  received: Received,
  decode: (bytes: Buffer) => Wire,
): Promise<void> {
  received.requests += 1;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const isRight = request.url === "/v1/traces" && request.headers["content-type"] === "application/x-protobuf";
  if (received.answer === "hang") return;
  if (received.answer === "take" && isRight) received.take(decode(Buffer.concat(chunks)));
  const status = isRight ? { take: 200, later: 503, refuse: 400 }[received.answer] : 404;
  response.writeHead(status).end();
}

export async function grpcCollector(): Promise<Collector> {
  const received = new Received();
  const server = new Server();
  server.addService(traceService(), {
    Export: (call: { request: Wire }, callback: (error: { code: number } | null, answer?: object) => void) => {
      received.requests += 1;
      if (received.answer === "hang") return;
      if (received.answer !== "take") {
        callback({ code: received.answer === "later" ? 14 : 3 });
        return;
      }
      received.take(call.request);
      callback(null, {});
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return Object.assign(received, {
    endpoint: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  });
}

function collected(service: string, span: WireSpan): CollectedSpan {
  const { status } = span;
  return {
    service,
    traceId: span.traceId.toString("hex"),
    spanId: span.spanId.toString("hex"),
    parentSpanId: span.parentSpanId.toString("hex"),
    name: span.name,
    kind: span.kind,
    startMs: Number(span.start) / 1e6,
    endMs: Number(span.end) / 1e6,
    attributes: attributesOf(span.attributes),
    events: span.events.map(({ name }) => name),
    links: span.links.map(({ traceId }) => traceId.toString("hex")),
    state: span.traceState,
    failure: status?.code === 2 ? status.message : undefined,
  };
}

function attributesOf(pairs: readonly Pair[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => {
      const found = value[value.value];
      return [key, value.value === "intValue" ? Number(found) : (found ?? "")];
    }),
  );
}

/** Each span below its parent, by name: `POST /api…` → `Create` → …; siblings in the order of their names. */
export function treeOf(spans: readonly CollectedSpan[], traceId: string): string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const ids = new Set(own.map(({ spanId }) => spanId));
  const lines = (parent: string | undefined, depth: number): string[] =>
    own
      .filter((span) => (parent === undefined ? !ids.has(span.parentSpanId) : span.parentSpanId === parent))
      .sort((a, b) => a.name.localeCompare(b.name) || a.startMs - b.startMs)
      .flatMap((span) => [`${"  ".repeat(depth)}${span.service}: ${span.name}`, ...lines(span.spanId, depth + 1)]);
  return lines(undefined, 0);
}
