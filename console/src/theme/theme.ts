import {
  ActionIcon,
  Alert,
  Button,
  Checkbox,
  type CSSVariablesResolver,
  createTheme,
  Input,
  Menu,
  Modal,
  Radio,
  SegmentedControl,
  Skeleton,
  Tabs,
  Tooltip,
} from '@mantine/core'
import controls from './controls.module.css'

/** The Mantine theme. Colours refer to the tokens, which differ between light and dark. */
export const theme = createTheme({
  primaryColor: 'verdigris',
  // White on shade 6 is 5.1:1 in the dark theme; on lighter shades it fails 4.5:1.
  primaryShade: { light: 7, dark: 6 },
  colors: {
    verdigris: [
      '#ecf7f4',
      '#d3ede6',
      '#a8dacd',
      '#74c3b2',
      '#47a896',
      '#2b8d7c',
      '#1f7b6c',
      '#17695c',
      '#11534a',
      '#0b3b35',
    ],
    dark: [
      '#e8f0ee',
      '#b0bfbc',
      '#90a19d',
      '#70827e',
      '#374846',
      '#233130',
      '#182221',
      '#121a19',
      '#0e1514',
      '#0b1110',
    ],
  },
  black: '#0f1d1b',
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.45', lg: '1.5', xl: '1.3' },
  headings: { fontWeight: '600' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  radius: { xs: '2px', sm: '4px', md: '6px', lg: '10px', xl: '16px' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
    Alert: Alert.extend({ defaultProps: { variant: 'light' } }),
    Button: Button.extend({ classNames: { root: controls.button } }),
    Checkbox: Checkbox.extend({
      defaultProps: { size: 'xs' },
      classNames: { description: controls.inlineDescription },
    }),
    Radio: Radio.extend({ defaultProps: { size: 'xs' }, classNames: { description: controls.inlineDescription } }),
    Input: Input.extend({ classNames: { wrapper: controls.inputWrapper, input: controls.input } }),
    InputWrapper: Input.Wrapper.extend({
      classNames: { label: controls.label, description: controls.description, error: controls.error },
    }),
    Menu: Menu.extend({
      defaultProps: {
        shadow: 'md',
        position: 'bottom-end',
        transitionProps: { duration: 80 },
        // The placeholder is a child that the role menu does not allow; without it the first item has the focus.
        withInitialFocusPlaceholder: false,
      },
      classNames: { dropdown: controls.floating, item: controls.menuItem },
    }),
    Modal: Modal.extend({
      defaultProps: {
        centered: true,
        radius: 12,
        size: 560,
        overlayProps: { color: 'var(--scrim)', backgroundOpacity: 1 },
        transitionProps: { duration: 100 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
      classNames: {
        header: controls.modalHeader,
        title: controls.modalTitle,
        body: controls.modalBody,
        content: controls.modalContent,
      },
    }),
    SegmentedControl: SegmentedControl.extend({
      defaultProps: { size: 'xs', withItemsBorders: false },
      classNames: { root: controls.segments, indicator: controls.segmentIndicator, label: controls.segmentLabel },
    }),
    Skeleton: Skeleton.extend({ classNames: { root: controls.skeleton } }),
    Tabs: Tabs.extend({ classNames: { tab: controls.tab, list: controls.tabList } }),
    Tooltip: Tooltip.extend({
      defaultProps: { openDelay: 200, events: { hover: true, focus: true, touch: true } },
      classNames: { tooltip: controls.tooltip },
    }),
  },
})

/** Points Mantine's own variables at the tokens, for both themes at once. */
export const resolveCssVariables: CSSVariablesResolver = () => {
  const scheme = {
    '--mantine-color-body': 'var(--surface)',
    '--mantine-color-text': 'var(--ink)',
    '--mantine-color-bright': 'var(--ink)',
    '--mantine-color-dimmed': 'var(--ink-3)',
    '--mantine-color-anchor': 'var(--accent-ink)',
    '--mantine-color-placeholder': 'var(--ink-3)',
    '--mantine-color-error': 'var(--no-t)',
    '--mantine-color-disabled': 'var(--surface-3)',
    '--mantine-color-disabled-color': 'var(--ink-3)',
    '--mantine-color-disabled-border': 'var(--line)',
    '--mantine-color-default': 'var(--surface)',
    '--mantine-color-default-hover': 'var(--surface-2)',
    '--mantine-color-default-color': 'var(--ink)',
    '--mantine-color-default-border': 'var(--line-2)',
    '--mantine-color-verdigris-filled': 'var(--accent)',
    '--mantine-color-verdigris-filled-hover': 'var(--accent-hover)',
    '--mantine-color-verdigris-light': 'var(--accent-soft)',
    '--mantine-color-verdigris-light-color': 'var(--accent-ink)',
    '--mantine-color-gray-light-hover': 'var(--surface-3)',
    '--mantine-color-gray-light-color': 'var(--ink-2)',
  }
  return { variables: {}, light: scheme, dark: scheme }
}
