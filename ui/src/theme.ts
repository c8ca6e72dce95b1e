/** The theme of all screens. Its colours have enough contrast in light and in dark. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

const ink: MantineColorsTuple = [
  '#eef0fb',
  '#d9ddf2',
  '#b0b8e3',
  '#8592d5',
  '#6172c9',
  '#4b5ec2',
  '#3f53c0',
  '#3344a9',
  '#2c3c98',
  '#223386',
]

export const theme = createTheme({
  colors: { ink },
  primaryColor: 'ink',
  primaryShade: { light: 7, dark: 5 },
  autoContrast: true,
  respectReducedMotion: true,
  luminanceThreshold: 0.35,
  defaultRadius: 'md',
  fontFamily:
    '-apple-system, "Segoe UI", Roboto, "Open Sans", "Noto Sans", Ubuntu, "Helvetica Neue", Arial, ui-sans-serif, system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  // Small sizes: people look at long lists all day.
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '650',
    sizes: { h1: { fontSize: '1.375rem' }, h2: { fontSize: '1.25rem' }, h3: { fontSize: '1.0625rem' } },
  },
  cursorType: 'pointer',
})

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#545c66',
    '--mantine-color-error': '#b3261e',
    '--mantine-color-red-filled': '#b3261e',
    '--mantine-color-red-filled-hover': '#99201a',
    '--mantine-color-red-outline': '#b3261e',
    '--mantine-color-orange-outline': '#9a4a00',
    '--tri-agent': '#6b3fa0',
    '--tri-human': '#9a4a00',
    '--tri-workflow': '#0b6470',
    '--tri-line': '#d8dce3',
    '--tri-rail': '#f4f5f8',
    '--tri-good': '#0b6b4f',
    '--tri-bad': '#b3261e',
    '--tri-wait': '#8a5200',
  },
  dark: {
    '--mantine-color-anchor': '#b0b8e3',
    '--mantine-color-dimmed': '#a4adb8',
    '--mantine-color-error': '#ff9a92',
    '--mantine-color-red-filled': '#b3261e',
    '--mantine-color-red-filled-hover': '#99201a',
    '--mantine-color-red-outline': '#ff9a92',
    '--mantine-color-orange-outline': '#ffb46b',
    '--tri-agent': '#c5a3f5',
    '--tri-human': '#ffb46b',
    '--tri-workflow': '#6fd0dd',
    '--tri-line': '#3b4048',
    '--tri-rail': '#1c1e22',
    '--tri-good': '#63d3ac',
    '--tri-bad': '#ff9a92',
    '--tri-wait': '#f2bd6d',
  },
})
