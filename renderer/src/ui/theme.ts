/**
 * Backlot: the one theme file. Every colour, size, radius and component default lives here.
 * Screens use `var(--bl-*)` only; no hex outside this file.
 */
import {
  ActionIcon,
  Badge,
  Button,
  type CSSVariablesResolver,
  createTheme,
  Input,
  Kbd,
  type MantineColorsTuple,
  Menu,
  Progress,
  SegmentedControl,
  Slider,
  Switch,
  Tabs,
  TextInput,
  Tooltip,
  useComputedColorScheme,
} from "@mantine/core";

/** The accent, light to dark. */
const cyc: MantineColorsTuple = [
  "#EDF4FF",
  "#D6E6FF",
  "#B0CFFF",
  "#8FB9FF",
  "#6EA3FA",
  "#4D8CF0",
  "#2C6FDA",
  "#2160C4",
  "#1B4E9F",
  "#173F80",
];
/** Warm neutrals, light to dark. */
const gray: MantineColorsTuple = [
  "#FBFAF8",
  "#F3F1EE",
  "#EBE8E4",
  "#E0DCD6",
  "#C9C3BB",
  "#A39C93",
  "#6B655D",
  "#524D46",
  "#37332E",
  "#1F1D1A",
];
const dark: MantineColorsTuple = [
  "#ECEAE6",
  "#CFCBC5",
  "#B3AEA7",
  "#98928A",
  "#57534E",
  "#423F3B",
  "#2B2A28",
  "#1B1A19",
  "#161514",
  "#10100F",
];

export type Tokens = Record<`--${string}`, string>;
/** Colours of services in plots, one for each of the seven; `--bl-s7` is the grey of what is off or rejected. */
export type ServiceColor = `--bl-s${1 | 2 | 3 | 4 | 5 | 6 | 8}`;

const darkTokens: Tokens = {
  // surfaces, back to front
  "--bl-chrome": "#151514",
  "--bl-page": "#1B1A19",
  "--bl-raised": "#222120",
  "--bl-control": "#2B2A28",
  "--bl-hover": "#272624",
  "--bl-well": "#171615",
  "--bl-input": "#171615",
  "--bl-thumb": "#403D3A",
  "--bl-line": "#2E2C2A",
  "--bl-line-strong": "#45423E",
  // text, primary to secondary (all at least 4.5:1 on every surface above)
  "--bl-text": "#ECEAE6",
  "--bl-text-2": "#B9B4AD",
  "--bl-text-3": "#9A948C",
  // accent
  "--bl-accent": "#8FB9FF",
  "--bl-accent-fill": "#2C6FDA",
  "--bl-on-accent": "#FFFFFF",
  "--bl-select": "#24324A",
  "--bl-select-line": "#4D8CF0",
  // status: never colour alone, always with its shape and word
  "--bl-ok": "#57C792",
  "--bl-ok-soft": "#1C3228",
  "--bl-warn": "#E5B84A",
  "--bl-warn-soft": "#382E17",
  "--bl-bad": "#FF857A",
  "--bl-bad-soft": "#3B2220",
  "--bl-idle": "#9A948C",
  // data
  "--bl-code-key": "#9CC2FF",
  "--bl-code-str": "#B4D6A0",
  "--bl-code-num": "#E8BE7C",
  "--bl-code-lit": "#D9A8E3",
  "--bl-s1": "#6EA3FA",
  "--bl-s2": "#57C792",
  "--bl-s3": "#E0B04A",
  "--bl-s4": "#BE8BDB",
  "--bl-s5": "#EE8468",
  "--bl-s6": "#57BEC6",
  "--bl-s7": "#7D776F",
  "--bl-s8": "#E583B0",
  "--bl-shadow-pop": "0 0 0 1px #3A3734, 0 8px 24px rgba(0,0,0,.45)",
};

const lightTokens: Tokens = {
  "--bl-chrome": "#F3F1EE",
  "--bl-page": "#FBFAF8",
  "--bl-raised": "#FFFFFF",
  "--bl-control": "#EFECE8",
  "--bl-hover": "#F3F1EE",
  "--bl-well": "#F6F4F1",
  "--bl-input": "#FFFFFF",
  "--bl-thumb": "#FFFFFF",
  "--bl-line": "#E4E0DB",
  "--bl-line-strong": "#CBC5BD",
  "--bl-text": "#1F1D1A",
  "--bl-text-2": "#524D46",
  "--bl-text-3": "#6B655D",
  "--bl-accent": "#2160C4",
  "--bl-accent-fill": "#2160C4",
  "--bl-on-accent": "#FFFFFF",
  "--bl-select": "#DFEAFB",
  "--bl-select-line": "#2160C4",
  "--bl-ok": "#17754A",
  "--bl-ok-soft": "#DDF1E6",
  "--bl-warn": "#865700",
  "--bl-warn-soft": "#FAEFD3",
  "--bl-bad": "#B83227",
  "--bl-bad-soft": "#FBE7E4",
  "--bl-idle": "#6B655D",
  "--bl-code-key": "#1B4E9F",
  "--bl-code-str": "#2C6A2C",
  "--bl-code-num": "#8A5000",
  "--bl-code-lit": "#86378F",
  "--bl-s1": "#2F74E0",
  "--bl-s2": "#2E9B67",
  "--bl-s3": "#B5820F",
  "--bl-s4": "#9A55BC",
  "--bl-s5": "#D4593D",
  "--bl-s6": "#1F8F95",
  "--bl-s7": "#9A938A",
  "--bl-s8": "#C2457F",
  "--bl-shadow-pop": "0 0 0 1px #DAD5CE, 0 8px 24px rgba(40,34,26,.14)",
};

/** Same in both schemes. */
const shared: Tokens = {
  "--bl-mono": "'Fira Mono', ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace",
  "--bl-rail": "212px",
  "--bl-header": "44px",
  "--bl-drawer": "32px",
  "--bl-inspector": "clamp(448px, 28vw, 560px)",
  "--bl-row": "28px",
  "--bl-bar": "40px",
  "--bl-gutter": "20px",
};

/** Mantine's own variables from ours. */
const mantineColors = (tokens: Tokens): Tokens => ({
  ...tokens,
  "--mantine-color-body": tokens["--bl-page"]!,
  "--mantine-color-text": tokens["--bl-text"]!,
  "--mantine-color-dimmed": tokens["--bl-text-3"]!,
  "--mantine-color-placeholder": tokens["--bl-text-3"]!,
  "--mantine-color-default": tokens["--bl-control"]!,
  "--mantine-color-default-border": tokens["--bl-line-strong"]!,
  "--mantine-color-default-color": tokens["--bl-text"]!,
  "--mantine-color-cyc-light-hover": tokens["--bl-select"]!,
});

export const resolver: CSSVariablesResolver = () => ({
  variables: shared,
  dark: { ...mantineColors(darkTokens), "--mantine-color-default-hover": "#343230", "--mantine-color-default-border": "#3A3734" },
  light: { ...mantineColors(lightTokens), "--mantine-color-default": "#FFFFFF", "--mantine-color-default-hover": "#F6F4F1" },
});

export const theme = createTheme({
  colors: { cyc, gray, dark },
  primaryColor: "cyc",
  primaryShade: { light: 7, dark: 6 },
  autoContrast: false,
  cursorType: "default",
  respectReducedMotion: true,
  focusRing: "auto",
  fontFamily: "Inter, system-ui, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "var(--bl-mono)",
  fontSizes: { xs: "11px", sm: "12px", md: "13px", lg: "15px", xl: "20px" },
  lineHeights: { xs: "16px", sm: "16px", md: "20px", lg: "20px", xl: "28px" },
  spacing: { xs: "4px", sm: "8px", md: "12px", lg: "16px", xl: "24px" },
  radius: { xs: "3px", sm: "5px", md: "8px", lg: "8px", xl: "999px" },
  defaultRadius: "sm",
  shadows: { xs: "none", sm: "none", md: "var(--bl-shadow-pop)", lg: "var(--bl-shadow-pop)", xl: "var(--bl-shadow-pop)" },
  components: {
    Button: Button.extend({
      defaultProps: { size: "xs", variant: "default" },
      vars: (_t, p) => ({
        root: {
          "--button-height": p.size === "md" ? "36px" : "28px",
          "--button-padding-x": p.size === "md" ? "16px" : "10px",
          "--button-fz": p.size === "md" ? "13px" : "12px",
        },
      }),
      styles: { label: { fontWeight: 500 }, section: { marginInlineEnd: "var(--section-gap, 6px)" } },
    }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: "subtle", color: "gray", size: 24 } }),
    SegmentedControl: SegmentedControl.extend({
      defaultProps: { size: "xs", withItemsBorders: false },
      styles: {
        root: { padding: 2, background: "var(--bl-control)", borderRadius: 5 },
        label: { padding: "2px 10px", fontSize: 12, lineHeight: "20px", fontWeight: 500 },
        indicator: { boxShadow: "none" },
      },
    }),
    Tabs: Tabs.extend({
      styles: {
        tab: { padding: "0 2px", height: 36, fontSize: 13, fontWeight: 500, marginRight: 18, borderBottomWidth: 2 },
        list: { "--tab-border-color": "transparent" } as never,
      },
    }),
    TextInput: TextInput.extend({ defaultProps: { size: "xs" } }),
    Input: Input.extend({
      vars: () => ({
        wrapper: {
          "--input-height": "28px",
          "--input-size": "28px",
          "--input-fz": "12px",
          "--input-bg": "var(--bl-input)",
          "--input-bd": "var(--bl-line-strong)",
        } as never,
      }),
    }),
    Badge: Badge.extend({
      defaultProps: { variant: "default", radius: "xs" },
      styles: { root: { textTransform: "none", fontWeight: 500, fontSize: 11, height: 18, padding: "0 6px", letterSpacing: 0 } },
    }),
    Kbd: Kbd.extend({
      styles: {
        root: {
          fontSize: 11,
          lineHeight: "14px",
          padding: "0 4px",
          borderRadius: 3,
          borderWidth: 1,
          background: "var(--bl-control)",
          borderColor: "var(--bl-line-strong)",
          color: "var(--bl-text-2)",
          fontFamily: "inherit",
          whiteSpace: "nowrap",
          flexShrink: 0,
        },
      },
    }),
    Progress: Progress.extend({ defaultProps: { size: 4, radius: "xl" } }),
    Slider: Slider.extend({ defaultProps: { size: 3, thumbSize: 12 } }),
    Switch: Switch.extend({ defaultProps: { size: "xs" } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 350, fz: 12 } }),
    Menu: Menu.extend({ defaultProps: { shadow: "md", withInitialFocusPlaceholder: false } }),
  },
});

/** The current colours, for a canvas, which cannot use CSS variables. */
export const useTokens = (): Tokens =>
  useComputedColorScheme("dark", { getInitialValueInEffect: false }) === "dark" ? darkTokens : lightTokens;

/** A `#RRGGBB` token made translucent. */
export const withAlpha = (color: string | undefined, alpha: number): string =>
  `${color}${Math.round(alpha * 255)
    .toString(16)
    .padStart(2, "0")}`;
