/**
 * Before every test file: lists that are shared are frozen, as everything else that is. See
 * `src/client/requests/frozen.ts`.
 */
import { freezeLists } from "../../src/client/requests/frozen.ts";

freezeLists();
