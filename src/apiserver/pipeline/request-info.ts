/** What a request is about. Paths under the prefix of a moment become those of the resource, as of that moment. */
import { RequestInfos } from "../http/request-info.ts";
import { withoutPrefix } from "../past/index.ts";
import type { Step } from "./compose.ts";
import type { Arrived, Received } from "./exchange.ts";

export function requestInfo(): Step<Arrived, Received> {
  const infos = new RequestInfos();
  return (exchange, next) => {
    const request = withoutPrefix(exchange.original);
    return next(exchange.received(request, infos.of(request.method, request.path, request.query)));
  };
}
