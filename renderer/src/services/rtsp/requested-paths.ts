import { createHandover } from "../../pages/service/handover.ts";

/** Names of paths to open in the tab Paths. */
export const requestedPaths = createHandover<string>();
