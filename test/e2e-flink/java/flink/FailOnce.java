import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.table.functions.ScalarFunction;

/** fail_once(value, at): the value, but the first time in this process that it is AT, its job fails. */
public class FailOnce extends ScalarFunction {
    private static final Set<Integer> FAILED = ConcurrentHashMap.newKeySet();

    public Integer eval(Integer value, Integer at) {
        if (value != null && value.equals(at) && FAILED.add(at)) throw new IllegalStateException("the failure at " + at);
        return value;
    }

    @Override
    public boolean isDeterministic() {
        return false; // or it is computed ahead for a constant
    }
}
