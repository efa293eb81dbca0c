/** Before every test file: lists that are shared are frozen, as everything else that is. See `src/client/frozen.ts`. */
import { freezeLists } from "../../src/client/frozen.ts";

freezeLists();
