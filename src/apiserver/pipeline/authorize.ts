/** Whether the user may do it. The verdict is kept for audit, also where the request is refused. */
import { andThen } from "#base";
import { type Authorizer, demandAllowed } from "../authz/authorizer.ts";
import type { Step } from "./compose.ts";
import type { Attributed, Authorized } from "./exchange.ts";

export function authorize(authorizer: Authorizer): Step<Attributed, Authorized> {
  return (exchange, next) =>
    andThen(authorizer(exchange.attributes), (verdict) => {
      const authorized = exchange.authorized(verdict);
      demandAllowed(exchange.attributes, verdict);
      return next(authorized);
    });
}
