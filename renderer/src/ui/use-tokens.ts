import { useComputedColorScheme } from "@mantine/core";
import { darkTokens, lightTokens, type Tokens } from "./theme.ts";

/** The colours in force, for a canvas, which reads no CSS variables. */
export const useTokens = (): Tokens =>
  useComputedColorScheme("dark", { getInitialValueInEffect: false }) === "dark" ? darkTokens : lightTokens;

/** A `#RRGGBB` token made translucent. */
export const withAlpha = (color: string | undefined, alpha: number): string =>
  `${color}${Math.round(alpha * 255)
    .toString(16)
    .padStart(2, "0")}`;
