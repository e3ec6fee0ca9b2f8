/**
 * The theme of the dashboard: palettes and component defaults. Colours and sizes are in theme-tokens.ts.
 * Screens use `var(--bl-*)` only; no hex outside of these two files.
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
  Modal,
  PasswordInput,
  Popover,
  Progress,
  SegmentedControl,
  Slider,
  Switch,
  Tabs,
  TextInput,
  Tooltip,
  useComputedColorScheme,
} from "@mantine/core";
import { darkTokens, lightTokens, sharedTokens, type Tokens } from "./theme-tokens.ts";

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

/** Colours of services in plots, one for each of the seven; `--bl-s7` is the grey of what is off or rejected. */
export type ServiceColor = `--bl-s${1 | 2 | 3 | 4 | 5 | 6 | 8}`;

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
  variables: sharedTokens,
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
          // A variant of ours. Mantine writes the colours of its own ones on the element, where no class of a style sheet can change them.
          ...(p.variant === "destructive" && {
            "--button-bg": "var(--bl-bad)",
            "--button-hover": "color-mix(in srgb, var(--bl-bad) 88%, var(--bl-text))",
            "--button-color": "var(--bl-page)",
          }),
        },
      }),
      styles: { label: { fontWeight: 500 }, section: { marginInlineEnd: "var(--section-gap, 6px)" } },
    }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: "subtle", color: "gray", size: 24 } }),
    SegmentedControl: SegmentedControl.extend({
      defaultProps: { size: "xs", withItemsBorders: false },
      styles: {
        root: { padding: 2, background: "var(--bl-control)", borderRadius: 5 },
        label: { padding: "2px var(--label-padding, 10px)", fontSize: 12, lineHeight: "20px", fontWeight: 500 },
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
    PasswordInput: PasswordInput.extend({ vars: () => ({ root: { "--psi-icon-size": "15px", "--psi-button-size": "24px" } }) }),
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
    Menu: Menu.extend({ defaultProps: { shadow: "md", withInitialFocusPlaceholder: false } }),
    // Without a transition: one that a hidden tab interrupts never ends, and what it closes would stay there, invisible, and take clicks.
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 350, fz: 12, transitionProps: { duration: 0 } } }),
    Popover: Popover.extend({ defaultProps: { transitionProps: { duration: 0 } } }),
    Modal: Modal.extend({ defaultProps: { transitionProps: { duration: 0 } } }),
    // Dialogs are composed of its parts, which do not take the defaults of the complete one.
    ModalRoot: Modal.Root.extend({ defaultProps: { transitionProps: { duration: 0 } } }),
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
