/** Why a connection failed, in the words in which Go says it: clients and people look for them. */

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ETIMEDOUT: "i/o timeout",
  ECONNRESET: "connection reset by peer",
};

interface SystemError extends Error {
  readonly code?: string;
}

export function dialError(error: unknown, host: string, port: number): string {
  const { code = "", message } = error as SystemError;
  const reason = REASONS[code];
  const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (reason !== undefined) return `dial tcp ${target}: ${reason}`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `dial tcp: lookup ${host}: no such host`;
  return message;
}
