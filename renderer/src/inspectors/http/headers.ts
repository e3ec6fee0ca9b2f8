import type { HeaderList } from "../../../../contract/traffic/http.ts";

export const headerValue = (headers: HeaderList, name: string): string =>
  headers.find(([other]) => other.toLowerCase() === name)?.[1] ?? "";
