import type { ServiceId } from "../../../../contract/service.ts";
import { servicePages } from "../../services/registry.ts";
import type { Tokens } from "../../ui/theme.ts";

/** The token of a service's colour in plots, the same wherever it is drawn. */
export const seriesToken = (id: ServiceId): keyof Tokens => servicePages.get(id)?.color ?? "--bl-text-3";
