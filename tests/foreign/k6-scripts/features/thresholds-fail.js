// thresholds of all kinds of metrics, some of which do not hold
// exit code 99
import { Counter, Gauge, Rate, Trend } from "k6/metrics";
export { handleSummary } from "../data.js";

const counter = new Counter("counter");
const gauge = new Gauge("gauge");
const rate = new Rate("rate");
const trend = new Trend("trend");
export const options = {
  iterations: 4,
  thresholds: {
    counter: ["count==4", "count>4", "count>=4", "count<=3", "count!=4"],
    gauge: ["value==3", "value<3"],
    rate: ["rate==0.5", "rate>0.5"],
    trend: ["avg==2.5", "min==1", "max==4", "med==2.5", "p(50)==2.5", "p(100)==4", "p(99.9)<2"],
    "counter{kind:odd}": ["count==2", "count==1"],
    "counter{kind:none}": ["count==0"],
  },
};

export default function () {
  counter.add(1, { kind: __ITER % 2 ? "odd" : "even" });
  gauge.add(__ITER);
  rate.add(__ITER % 2);
  trend.add(__ITER + 1);
}
