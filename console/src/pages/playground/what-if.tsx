import { Button, Slider as RangeSlider } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import { LiveNumberField } from '../../components/money/live-number-field.tsx'
import { currentNotation } from '../../components/money/number-notation.ts'
import { Section } from '../../components/section.tsx'
import { Verdict } from '../../components/verdict.tsx'
import { AmountLine } from '../../decision-view/granted.tsx'
import { writeDecimal, writePoints, writeValue } from '../../decision-view/write-feature.ts'
import classes from './playground.module.css'
import type { Changes, DryResult, Slider } from './playground-request.ts'
import { sliderField } from './slider-field.ts'
import { stretchesOf } from './slider-stretches.ts'

/** Sliders for the features that would move the verdict; each track shows the verdict of every value before one drags. */
export function WhatIf({
  result,
  original,
  changes,
  onChange,
}: {
  result: DryResult
  /** The result without changes. */
  original: DryResult | undefined
  changes: Changes
  onChange: (changes: Changes) => void
}) {
  const { view, sliders } = result
  const isChanged = Object.keys(changes).length > 0
  return (
    <Section
      title="What if"
      sub="drag, or focus and use the arrow keys; decided again at every stop"
      flush
      end={
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconArrowBackUp size={14} />}
          disabled={!isChanged}
          onClick={() => onChange({})}
        >
          Reset
        </Button>
      }
    >
      <section className={classes.verdictBar} aria-label="Result of the what-if">
        <Answer result={result} />
        <div aria-live="polite">{isChanged && original && <Flip before={original} after={result} />}</div>
      </section>
      <ul className={classes.sliders}>
        {sliders.map((slider) => (
          <SliderRow
            key={slider.feature}
            slider={slider}
            currency={view.requested?.currency}
            value={changes[slider.feature] ?? slider.value}
            onChange={(value) => onChange({ ...changes, [slider.feature]: value })}
          />
        ))}
      </ul>
    </Section>
  )
}

function SliderRow({
  slider,
  currency,
  value,
  onChange,
}: {
  slider: Slider
  currency: string | undefined
  value: number | null
  onChange: (value: number) => void
}) {
  const { feature, label, from, to, step, track } = slider
  const write = (amount: number) => writeValue(amount, slider.unit, currency)
  const { rules, toField, fromField } = sliderField(slider, { notation: currentNotation(), currency })
  return (
    <li className={classes.slider}>
      <div>
        <b>{label}</b>
        <code>{feature}</code>
      </div>
      <div className={classes.track}>
        <div className={classes.stretches} aria-hidden="true">
          {stretchesOf(slider).map(({ start, verdict, left, right }) => (
            <i key={start} data-verdict={verdict} style={{ left: `${left}%`, right: `${100 - right}%` }} />
          ))}
        </div>
        <RangeSlider
          min={from}
          max={to}
          step={step}
          value={value ?? from}
          onChange={onChange}
          label={null}
          thumbLabel={label}
          thumbValueText={write(value ?? from)}
          classNames={{ track: classes.bare, bar: classes.noBar, thumb: classes.thumb }}
        />
        <p className={classes.words}>
          {track.map(({ from: start, verdict }, index) => (
            <span key={start}>
              <Verdict verdict={verdict} />
              {index > 0 && ` from ${write(start)}`}
            </span>
          ))}
        </p>
      </div>
      <LiveNumberField
        aria-label={label}
        value={value === null ? null : toField(value)}
        placeholder="missing"
        whenEmpty="Write a number."
        rules={rules}
        onValue={(next) => next !== null && onChange(fromField(next))}
      />
    </li>
  )
}

/** Verdict, amount and score as they are now; they stay in sight while a slider moves. */
function Answer({ result: { view } }: { result: DryResult }) {
  const { verdict, evidence, requested } = view
  return (
    <p className={classes.answer}>
      {verdict && <Verdict verdict={verdict} whole />}
      <AmountLine requested={requested} limit={view.recommended_limit} review={null} />
      {requested && evidence.score && (
        <span className="num">
          score {writeDecimal(evidence.score.total)}{' '}
          <span className="dim">cutoff {writeDecimal(evidence.score.cutoff)}</span>
        </span>
      )}
    </p>
  )
}

/** What the verdict was before the change, and which reasons came or went with it. */
function Flip({ before, after }: { before: DryResult; after: DryResult }) {
  const codes = (result: DryResult) => new Set(result.view.reasons.map(({ code }) => code))
  const [was, is] = [codes(before), codes(after)]
  const came = after.view.reasons.filter(({ code }) => !was.has(code))
  const went = before.view.reasons.filter(({ code }) => !is.has(code))
  const points = (after.view.evidence.score?.total ?? 0) - (before.view.evidence.score?.total ?? 0)
  const isFlipped = before.view.verdict !== after.view.verdict
  return (
    <p className={classes.flip}>
      {isFlipped && before.view.verdict && (
        <span className={classes.answer}>
          was <Verdict verdict={before.view.verdict} whole />
        </span>
      )}
      <span>
        {points === 0 ? 'The score does not move' : `${writePoints(points)} points`}
        {came.length > 0 && `; new: ${came.map(({ label }) => label).join(', ')}`}
        {went.length > 0 && `; gone: ${went.map(({ label }) => label).join(', ')}`}
      </span>
    </p>
  )
}
